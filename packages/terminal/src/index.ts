export { createProgress, type Progress } from './progress.js'
export { SolvableProblem } from './solvable-problem.js'
