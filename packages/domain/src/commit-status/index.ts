export * from './aggregate.js'
export * from './commit-status.js'
export * from './validate.js'
