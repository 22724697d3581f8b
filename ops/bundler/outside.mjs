/** Packages that a bundle loads from node_modules, because they read files beside their modules. */
export const imported = [
  '@grpc/grpc-js',
  '@grpc/proto-loader',
  '@grpc/reflection',
  '@prisma/schema-engine-wasm',
  'grpc-health-check',
  'piscina',
]
