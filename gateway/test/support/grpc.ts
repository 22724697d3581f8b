import { credentials } from '@grpc/grpc-js'

/** HTTP/2 without TLS. */
export const insecure = credentials.createInsecure()
