export * from './branch-protection.js'
export * from './caller.js'
export * from './project-roles.js'
export * from './scopes.js'
