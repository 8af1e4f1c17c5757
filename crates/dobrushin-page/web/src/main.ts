import { mount } from 'svelte';
import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/answer.css';
import './styles/plots.css';
import App from './App.svelte';
import { program } from './engine/engine';

// The program is loaded while the page is built; whoever asks first says what went wrong.
program().catch(() => undefined);

const target = document.getElementById('page');
if (target) mount(App, { target });
