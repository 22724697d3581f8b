import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { createDatabase, type Database } from '@switchyard/db'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createTestDatabase, createToken, createUser } from '@switchyard/testing'
import pg from 'pg'
import { configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

type Operation = {
  [Key in keyof SagaClient]: SagaClient[Key] extends (
    request: infer Request,
    metadata: Metadata,
    options: object,
    callback: (error: ServiceError | null, response: CommonResponse) => void,
  ) => unknown
    ? Key
    : never
}[keyof SagaClient]
