// Files in and out: they stay on this machine.
import { page } from '../state/page.svelte';

export function download(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    page.notice = `${what} is copied.`;
  } catch {
    page.notice = `The browser does not let this page copy. Select the text and copy it yourself.`;
  }
}

/** A file that somebody chose or dropped; nothing here needs more than a few megabytes. */
export async function textOf(file: File): Promise<string> {
  if (file.size > 16_000_000) throw new Error(`${file.name} has ${file.size} bytes, which is too much for this page.`);
  return file.text();
}
