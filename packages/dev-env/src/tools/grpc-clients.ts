import { findPython, findRuby } from './interpreters.js'

/** Other implementations of gRPC than grpc-js, clients of the saga reporter in its tests. */
const grpc = (language: string) => ({
  title: `gRPC for ${language}`,
  tests: `tests with the gRPC client of ${language}`,
  module: 'grpc',
})

/** A Python that has gRPC, or null. */
export const findGrpcPython = (toolsDir: string, log: (line: string) => void) =>
  findPython({ ...grpc('Python'), package: 'python3-grpcio' }, toolsDir, log)

/** A Ruby that has gRPC, or null. */
export const findGrpcRuby = (toolsDir: string, log: (line: string) => void) =>
  findRuby({ ...grpc('Ruby'), package: 'ruby-grpc' }, toolsDir, log)
