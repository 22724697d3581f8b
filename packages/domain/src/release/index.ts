export * from './release-rules.js'
