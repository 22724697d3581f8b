export * from './figures.js'
export * from './find-impact.js'
export * from './onset.js'
export * from './statistics.js'
