export * from './deployment-status.js'
export * from './environment.js'
export * from './protected-environment.js'
export * from './saga-reference.js'
