export * from './broadcast-message.js'
