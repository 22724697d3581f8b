export * from './like-pattern.js'
export * from './locks.js'
export * from './row-columns.js'
export * from './write-rows.js'
