import { Server, ServerCredentials, type ServiceDefinition, type sendUnaryData } from '@grpc/grpc-js'
import { CommonResponse, SagaService } from '@switchyard/contracts/saga'
import pg from 'pg'

/**
 * The servers with which the reporter is compared, each in a separate process. `echo` is @grpc/grpc-js alone
 * and echoes the bytes. `insert-each` writes one row of the log for each call and answers after its commit.
 */
type Handle = (operation: string, request: Buffer) => Promise<Buffer> | Buffer

const databaseUrl = process.argv[3]
const handlers: Record<string, () => Handle> = {
  echo: () => (_, request) => request,
  'insert-each': insertEach,
}
const handle = handlers[process.argv[2] ?? '']?.()
if (!handle) throw new Error('the name of the server must be echo or insert-each')

const server = new Server()
server.addService(definition(), implementation(handle))
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send?.(port)
})

function definition(): ServiceDefinition {
  const bytes = (message: Buffer) => message
  return Object.fromEntries(
    Object.entries(SagaService).map(([name, method]) => [
      name,
      { ...method, requestDeserialize: bytes, responseSerialize: bytes },
    ]),
  ) as unknown as ServiceDefinition
}

function implementation(handle: Handle) {
  return Object.fromEntries(
    Object.entries(SagaService).map(([name, { path }]) => {
      const operation = path.slice(path.lastIndexOf('/') + 1)
      const method = ({ request }: { request: Buffer }, answer: sendUnaryData<Buffer>) => {
        const answered = handle(operation, request)
        if (Buffer.isBuffer(answered)) answer(null, answered)
        else answered.then((response) => answer(null, response), answer)
      }
      return [name, method]
    }),
  ) as never
}

function insertEach(): Handle {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 32 })
  const methods = new Map(
    Object.values(SagaService).map((method) => [method.path.slice(method.path.lastIndexOf('/') + 1), method]),
  )
  const recorded = Buffer.from(
    CommonResponse.encode({ isSuccess: true, message: 'recorded', errors: '' }).finish(),
  )
  const key = Buffer.alloc(8)
  return async (operation, request) => {
    const message = methods.get(operation)?.requestDeserialize(request) as {
      sagaId?: string
      activityId?: string
    }
    await pool.query({
      name: 'insert',
      text: `INSERT INTO saga_events (tenant, received_at, operation, saga_id, activity_id, content_key, result, request)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: [
        'default',
        new Date(),
        operation,
        message.sagaId || null,
        message.activityId ?? null,
        key,
        'recorded',
        request,
      ],
    })
    return recorded
  }
}
