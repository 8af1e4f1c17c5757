import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// Names without hashes: the page is a folder of files that are the same for the same source. All addresses are relative, so that
// it works under any path.
const names = {
  entryFileNames: 'assets/[name].js',
  chunkFileNames: 'assets/[name].js',
  // There is one style sheet.
  assetFileNames: 'assets/index[extname]',
};

export default defineConfig({
  base: './',
  plugins: [svelte()],
  worker: { format: 'es', rollupOptions: { output: { entryFileNames: 'assets/worker.js' } } },
  build: {
    outDir: process.env.PAGE_OUT ?? 'dist',
    emptyOutDir: false,
    target: 'es2022',
    // These know light-dark().
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { output: names },
  },
});
