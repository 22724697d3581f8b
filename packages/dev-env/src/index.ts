export { runStart, type StartOptions } from './start/run-start.js'
