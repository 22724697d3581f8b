export * from './body-template.js'
export * from './clock.js'
export * from './errors.js'
export * from './wildcard.js'
