import type { ServiceDefinition } from '@grpc/grpc-js'
import { tooLarge } from '@switchyard/domain'

/** Replaces a request that is larger than its service accepts. */
class OversizedRequest {
  readonly bytesMax: number

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }
}

/** The same service, with methods that refuse larger requests. The limit of the server is that of reported events. */
export function limitRequests(definition: ServiceDefinition, bytesMax: number): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      {
        ...method,
        requestDeserialize: (bytes: Buffer) =>
          bytes.length > bytesMax ? new OversizedRequest(bytesMax) : method.requestDeserialize(bytes),
      },
    ]),
  )
}

/** @throws DomainError too-large */
export function requireSize(request: unknown): void {
  if (request instanceof OversizedRequest)
    throw tooLarge(`a request of this method may have ${request.bytesMax} bytes`)
}
