export { diffBetween, diffFromMergeBase, listChanges, readFileDiff } from './diff-between.js'
export type { DiffEntry } from './parse-diff.js'
export { readDiff } from './read-diff.js'
export { readStats, type StatsOfCommits } from './read-stats.js'
