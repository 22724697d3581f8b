export * from './like-pattern.js'
export * from './lock-project-row.js'
export * from './row-columns.js'
export * from './write-rows.js'
