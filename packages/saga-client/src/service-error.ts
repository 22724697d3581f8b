import { Metadata, type ServiceError, type status } from '@grpc/grpc-js'

export const serviceError = (code: status, details: string): ServiceError =>
  Object.assign(new Error(details), { code, details, metadata: new Metadata() })

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
