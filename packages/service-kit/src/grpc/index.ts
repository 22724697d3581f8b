export { toServiceError } from './errors.js'
export { type GrpcServer, type GrpcServerOptions, type GrpcService, startGrpcServer } from './server.js'
export { unary } from './unary.js'
