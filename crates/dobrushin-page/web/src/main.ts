import { mount } from 'svelte';
import 'uplot/dist/uPlot.min.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/answer.css';
import './styles/plots.css';
import App from './App.svelte';

const target = document.getElementById('page');
if (target) mount(App, { target });
