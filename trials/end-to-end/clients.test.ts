import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getRedisServer } from '../../packages/local-servers/src/tools/servers.js'
import { startTree, type Tree } from '../support/tree.js'

const root = resolve(import.meta.dirname, '../..')
let tree: Tree
let scratch: string
beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'switchyard-clients-'))
  tree = await startTree()
})
afterAll(async () => {
  await tree?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** Creates an empty project that has installed a client of the tree, and further packages. */
async function installed(client: string, files: Record<string, string>, further: string[] = []) {
  const folder = join(scratch, client)
  const contents = { 'package.json': '{"private":true,"type":"module"}', ...files }
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const npm = (...args: string[]) => execa('npm', args, { cwd: folder })
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline']
  await npm('install', ...quiet, `${tree.url}/-/clients/${client}.tgz`, ...further)
  return {
    folder,
    npm,
    run: (env: Record<string, string> = {}) => execa('node', ['index.js'], { cwd: folder, env }),
    /** Checks the types of index.ts and of the client itself. */
    checkTypes: () =>
      execa(
        join(root, 'node_modules/.bin/tsc'),
        ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', 'index.ts'].concat(
          ['--types', 'node'],
          ['--typeRoots', join(root, 'node_modules/@types')],
        ),
        { cwd: folder, all: true, reject: false },
      ),
  }
}

describe('a project outside of this repository installs from the instance', () => {
  it('saga-client, and reports a saga', async () => {
    const project = await installed('saga-client', {
      'index.js': `import { createSagaClient } from '@switchyard/saga-client'
        const { SAGA_ADDRESS: address, TOKEN: token } = process.env
        const reporter = createSagaClient({ address, token, serviceName: 'booking' })
        const saga = { sagaId: 'installed-client' }
        const results = [reporter.sagaStarted({ ...saga, tags: { note: ' padded ' } }), reporter.sagaEnded(saga)]
        console.log(JSON.stringify(await Promise.all(results)))
        await reporter.close()`,
      'index.ts': `import { createSagaClient, type ReportResult, type SagaClient } from '@switchyard/saga-client'
        const client: SagaClient = createSagaClient({ address: 'localhost:50051', serviceName: 'booking', token: async () => 'x' })
        const result: Promise<ReportResult> = client.activityEnded({ sagaId: 's', activityId: 'a', result: { seat: '4A' } })
        // @ts-expect-error: an event has a saga.
        void client.sagaStarted({ tags: {} })
        void result`,
    })
    const { stdout } = await project.run({ SAGA_ADDRESS: tree.grpcAddress, TOKEN: tree.rootToken })
    expect(JSON.parse(stdout)).toEqual([
      { outcome: 'stored', message: 'recorded' },
      { outcome: 'stored', message: 'recorded' },
    ])
    const headers = { 'PRIVATE-TOKEN': tree.rootToken }
    const answer = await fetch(`${tree.url}/api/v4/sagas/installed-client`, { headers })
    expect(await answer.json()).toMatchObject({ status: 'Ended', tags: ['note= padded '] })
    expect((await project.checkTypes()).all).toBe('')
  })

  it('jobs-heartbeat, and shows a worker of BullMQ', async () => {
    const project = await installed(
      'jobs-heartbeat',
      {
        'index.js': `import { createHeartbeat } from '@switchyard/jobs-heartbeat'
          import { Queue, Worker } from 'bullmq'
          const connection = { path: process.env.REDIS_SOCKET, maxRetriesPerRequest: null }
          const heartbeat = createHeartbeat({ tag: 'billing' })
          const worker = new Worker('mail', heartbeat.count(async () => {}), { connection })
          heartbeat.start(worker)
          const queue = new Queue('mail', { connection })
          const done = new Promise((resolve) => worker.once('completed', resolve))
          await queue.add('welcome', {})
          await done
          await worker.close()
          await heartbeat.stop()
          const redis = await queue.client
          console.log(await redis.get('{jq}:bull:stat:processed'), await redis.smembers('{jq}:bull:queues'))
          await queue.close()`,
        'index.ts': `import { createHeartbeat, type Heartbeat } from '@switchyard/jobs-heartbeat'
          const heartbeat: Heartbeat = createHeartbeat({ labels: ['eu'] })
          const busy: number = heartbeat.busy()
          // @ts-expect-error: a tag is a text.
          createHeartbeat({ tag: 1 })
          void busy`,
      },
      ['bullmq@5.81.5'],
    )
    const socket = join(scratch, 'redis.sock')
    const server = await getRedisServer(join(root, '.switchyard/tools'), () => {})
    const redis = execa(server, ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', scratch], {
      reject: false,
    })
    try {
      await waitFor(() => existsSync(socket), { what: 'Redis to listen' })
      expect((await project.run({ REDIS_SOCKET: socket })).stdout).toBe("1 [ 'mail' ]")
    } finally {
      redis.kill()
      await redis
    }
    expect((await project.checkTypes()).all).toBe('')
  })

  it('webhook-signature, and checks a signature', async () => {
    const project = await installed('webhook-signature', {
      'index.js': `import { verify } from '@switchyard/webhook-signature'
        const { SIGNATURE: signature } = process.env
        const check = (body) => verify({ secret: 'secret-of-16-chars', signature, body })
        console.log(check('{}'), check('{ }'))`,
      'index.ts': `import { verify } from '@switchyard/webhook-signature'
        const good: boolean = verify({ secret: 's', signature: 't=1,v1=00', body: new Uint8Array() })
        void good`,
    })
    const seconds = Math.floor(Date.now() / 1000)
    const hex = createHmac('sha256', 'secret-of-16-chars').update(`${seconds}.{}`).digest('hex')
    expect((await project.run({ SIGNATURE: `t=${seconds},v1=${hex}` })).stdout).toBe('true false')
    expect((await project.checkTypes()).all).toBe('')
  })
})

describe('the command, installed from the instance', () => {
  let bin: string
  let home: string
  const project = 'root/command'
  beforeAll(async () => {
    bin = join((await installed('cli', {})).folder, 'node_modules/.bin/switchyard')
    home = join(scratch, 'home')
    const headers = { 'PRIVATE-TOKEN': tree.rootToken }
    await fetch(`${tree.url}/api/v4/projects?name=command&initialize_with_readme=true`, {
      method: 'POST',
      headers,
    })
    await run(['login', tree.url], tree.rootToken)
  })
  const run = (args: string[], input = '', env: Record<string, string> = {}) =>
    execa(bin, args, {
      input,
      env: { XDG_CONFIG_HOME: home, SWITCHYARD_PROJECT: project, ...env },
      reject: false,
    })
  const json = async (...args: string[]) => JSON.parse((await run(['--json', ...args])).stdout)

  it('login stores the token only for this user, whoami shows it without its secret, logout deletes it', async () => {
    const elsewhere = { XDG_CONFIG_HOME: join(scratch, 'elsewhere') }
    const file = join(scratch, 'elsewhere/switchyard/credentials.json')
    expect(await run(['whoami'], '', elsewhere)).toMatchObject({ exitCode: 3, stdout: '' })
    expect(await run(['login', tree.url], 'glpat-wrong', elsewhere)).toMatchObject({ exitCode: 3 })
    expect(existsSync(file)).toBe(false)
    expect((await run(['login', tree.url], `${tree.rootToken}\n`, elsewhere)).stderr).toContain('as root')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const shown = await run(['whoami'], '', elsewhere)
    expect(shown.stdout).toMatch(/^user +root$/m)
    expect(shown.stdout + shown.stderr).not.toContain(tree.rootToken)
    expect((await run(['logout'], '', elsewhere)).exitCode).toBe(0)
    expect(existsSync(file)).toBe(false)
    const given = { ...elsewhere, SWITCHYARD_URL: tree.url, SWITCHYARD_TOKEN: tree.rootToken }
    expect((await run(['whoami'], '', given)).stdout).toContain('root')
  })

  it('logout --revoke revokes the token, and deletes it even when it was revoked already', async () => {
    const secret = (await run(['token', 'create', 'kept-twice', '--scope', 'api'])).stdout
    const places = ['one', 'two'].map((name) => ({ XDG_CONFIG_HOME: join(scratch, name) }))
    for (const place of places)
      expect(await run(['login', tree.url], secret, place)).toMatchObject({ exitCode: 0 })
    for (const place of places) {
      expect(await run(['logout', '--revoke'], '', place)).toMatchObject({ exitCode: 0 })
      expect(existsSync(join(place.XDG_CONFIG_HOME, 'switchyard/credentials.json'))).toBe(false)
    }
  })

  it('status post and deploy report data that the API then shows', async () => {
    const set = await json('status', 'post', 'main', 'success', '--name', 'build', '--coverage', '91.5')
    expect(set).toMatchObject({ status: 'success', name: 'build', coverage: 91.5 })
    const shipped = ['--service', 'booking', '--service', 'billing']
    const started = await run([
      'deploy',
      'start',
      'production',
      '--sha',
      set.sha,
      '--ref',
      'main',
      ...shipped,
    ])
    expect(started.stderr).toContain('with booking, billing is running')
    expect(started.stdout).toMatch(/^\d+$/)
    expect(await json('deploy', 'finish', started.stdout)).toMatchObject({
      status: 'success',
      environment: { name: 'production' },
    })
    const again = await run(['deploy', 'finish', started.stdout, '--status', 'failed'])
    expect(again).toMatchObject({ exitCode: 6, stderr: '✗ status cannot change from success to failed' })
  })

  it('deploy start reports that an environment is frozen, and with --enforce only the reason of the server', async () => {
    const periods = `${tree.url}/api/v4/projects/root%2Fcommand/freeze_periods`
    const headers = { 'PRIVATE-TOKEN': tree.rootToken, 'Content-Type': 'application/json' }
    const wholeYear = { freeze_start: '0 0 1 1 *', freeze_end: '59 23 31 12 *' }
    const added = await fetch(periods, { method: 'POST', headers, body: JSON.stringify(wholeYear) })
    const { id } = (await added.json()) as { id: number }
    const start = ['deploy', 'start', 'staging', '--sha', 'main', '--ref', 'main']
    expect((await run(start)).stderr).toContain('• staging is frozen, by a freeze period or by a rule')
    expect(await run([...start, '--enforce'])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringMatching(/^✗ 403 Forbidden - The project is frozen until [\d-]+T[\d:.]+Z$/),
    })
    expect((await fetch(`${periods}/${id}`, { method: 'DELETE', headers })).status).toBe(204)
  })

  it('release upload publishes a file to which the release then links, once for any number of calls', async () => {
    const file = join(scratch, 'app.zip')
    writeFileSync(file, 'PK\u0000'.repeat(100_000))
    const upload = ['release', 'upload', 'v1.0.0', file]
    expect(await run(upload)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('--ref makes') })
    const [link] = await json(...upload, '--ref', 'main')
    expect(await json(...upload)).toEqual([link])
    writeFileSync(join(scratch, 'empty'), '')
    expect(await json(...upload, join(scratch, 'empty'))).toHaveLength(2)
    const answer = await fetch(link.direct_asset_url, { headers: { 'PRIVATE-TOKEN': tree.rootToken } })
    expect(await answer.text()).toBe(readFileSync(file, 'utf8'))
    expect((await run([...upload.slice(0, 3), join(scratch, 'none.zip')])).exitCode).toBe(1)
    writeFileSync(join(scratch, 'to do.txt'), '')
    expect(await run([...upload.slice(0, 3), join(scratch, 'to do.txt')])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('to do.txt is refused'),
    })
  })

  it('token create prints only the secret, of a project and of a user', async () => {
    for (const whose of [['-p', project], []]) {
      const made = await run([
        'token',
        'create',
        'ci',
        '--scope',
        'read_api',
        '--expires',
        '2099-01-31',
        ...whose,
      ])
      const given = { XDG_CONFIG_HOME: scratch, SWITCHYARD_URL: tree.url, SWITCHYARD_TOKEN: made.stdout }
      expect((await run(['whoami'], '', given)).stdout).toMatch(/^scopes +read_api$/m)
      expect(made.stderr).not.toContain(made.stdout)
    }
  })

  it('queue ls and banner show operators the current state, and banner ends its own messages', async () => {
    expect((await run(['queue', 'ls'])).stdout).toMatch(/^webhook-dispatch +\d/m)
    const banner = await json('banner', 'post', 'Deploys **pause**', '--theme', 'red')
    expect((await run(['banner', 'ls'])).stdout).toContain('Deploys **pause**')
    expect(await json('banner', 'end', String(banner.id))).toMatchObject({ active: false })
    expect((await run(['banner', 'end', '999999'])).exitCode).toBe(5)
  })

  const report = async (...events: object[]) => {
    const headers = { 'PRIVATE-TOKEN': tree.rootToken, 'Content-Type': 'application/json' }
    await fetch(`${tree.url}/api/v4/saga_events`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ events }),
    })
  }

  it('saga shows, annotates and resolves a saga, and texts of others cannot control the terminal', async () => {
    const saga = { saga_id: 'cli-failed' }
    const activity = { ...saga, activity_id: 'cli-failed-pay' }
    await report(
      { operation: 'SagaStarted', service_name: 'cli', ...saga },
      { operation: 'ActivityExecuteStarted', ...activity },
      { operation: 'ActivityCompensateAborted', errors: '\u001b[2Jno bank', ...activity },
    )
    expect((await run(['saga', 'ls', '--service', 'cli'])).stdout).toMatch(/^cli-failed +cli +Error/m)
    expect((await run(['saga', 'watch', saga.saga_id])).exitCode).toBe(9)
    expect((await run(['saga', 'note', saga.saga_id, 'called\u202e the bank'])).exitCode).toBe(0)
    const shown = (await run(['saga', 'show', saga.saga_id])).stdout
    expect(shown).toContain('U+001B[2Jno bank')
    expect(shown).toContain('calledU+202E the bank')
    expect(await json('saga', 'resolve', saga.saga_id, '--note', 'Paid')).toMatchObject({ status: 'Started' })
    expect((await run(['saga', 'resolve', saga.saga_id, '--note', 'Paid'])).exitCode).toBe(6)
  })

  it('saga watch follows a saga to its end, and ends with 130 on Ctrl-C', async () => {
    const saga = { saga_id: 'cli-watched' }
    await report({ operation: 'SagaStarted', service_name: 'cli', ...saga })
    const activity = { ...saga, activity_id: 'cli-watched-pay' }
    const watching = run(['saga', 'watch', saga.saga_id, '--json'])
    const all = run(['saga', 'watch'])
    const shown = [watching, all].map((each) => new Promise((seen) => each.stdout.once('data', seen)))
    // Only events after the start of the streams are shown.
    let attempt = 0
    const again = setInterval(() => {
      attempt += 1
      void report({ operation: 'ActivityExecuteStarted', attempt, ...activity })
    }, 200)
    await Promise.all(shown)
    clearInterval(again)
    await report({ operation: 'ActivityEnded', ...activity }, { operation: 'SagaEnded', ...saga })
    const { stdout, exitCode } = await watching
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout.split('\n').at(-1) ?? '')).toMatchObject({
      saga_id: 'cli-watched',
      outcome: 'succeeded',
    })
    all.kill('SIGINT')
    expect((await all).exitCode).toBe(130)
  })

  it('does not complain when its output is closed, and completes commands and choices', async () => {
    const piped = await execa({ shell: true, env: { XDG_CONFIG_HOME: home } })`${bin} queue ls | true`
    expect(piped.stderr).toBe('')
    expect((await run(['complete', '--', 'sa'])).stdout).toContain('saga\t')
    expect((await run(['complete', '--', 'saga', 'ls', '--status', ''])).stdout).toContain('Overtime')
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await run(['complete', shell])).stdout).toContain('switchyard')
  })

  it.each([
    { args: ['status', 'post', 'main', 'green'], exitCode: 2, says: 'Allowed choices are pending' },
    {
      args: ['status', 'post', 'main', 'success', '-p', 'root/none'],
      exitCode: 5,
      says: '404 Project Not Found',
    },
    { args: ['status', 'post', 'main', 'success', '-p', '..'], exitCode: 2, says: 'name nothing' },
    { args: ['whoami', '--url', 'http://127.0.0.1:1'], exitCode: 3, says: 'no token for http://127.0.0.1:1' },
    { args: ['lgoin'], exitCode: 2, says: '✗ lgoin is no command' },
    { args: ['deploy', '--help'], exitCode: 0, says: 'Usage: switchyard deploy' },
  ])('says what is wrong in a sentence: $args', async ({ args, exitCode, says }) => {
    const { stdout, stderr, exitCode: code } = await run(args)
    expect(stdout + stderr).toContain(says)
    expect(stderr).not.toContain('    at ')
    expect(code).toBe(exitCode)
  })
})

describe('GET /-/clients', () => {
  const get = (path: string, init?: RequestInit) => fetch(`${tree.url}/-/clients${path}`, init)

  it('lists the clients with the integrity hashes for package managers', async () => {
    const list = (await (await get('/')).json()) as { name: string; file: string; integrity: string }[]
    expect(list.map(({ name }) => name)).toEqual([
      '@switchyard/cli',
      '@switchyard/saga-client',
      '@switchyard/jobs-heartbeat',
      '@switchyard/webhook-signature',
    ])
    for (const { file, integrity } of list) {
      const response = await get(`/${file}`)
      expect(response.headers.get('Cache-Control')).toBe('no-cache')
      expect(response.headers.get('Content-Type')).toBe('application/gzip')
      const bytes = await response.arrayBuffer()
      const digest = Buffer.from(await crypto.subtle.digest('SHA-512', bytes)).toString('base64')
      expect(`sha512-${digest}`).toBe(integrity)
    }
  })

  it('has nothing else, and accepts no writes', async () => {
    for (const path of ['/other.tgz', '/..%2fbundle%2fmain.js', '/../bundle/main.js'])
      expect((await get(path)).status, path).toBe(404)
    expect((await get('/saga-client.tgz', { method: 'PUT', body: 'x' })).status).toBe(405)
    expect((await get('/saga-client.tgz', { method: 'HEAD' })).status).toBe(200)
  })
})
