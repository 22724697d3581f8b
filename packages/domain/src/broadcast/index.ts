export * from './appearance.js'
export * from './broadcast-message.js'
export * from './schedule.js'
export * from './target-path.js'
