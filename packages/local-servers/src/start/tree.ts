import { join } from 'node:path'
import type { Progress } from '@switchyard/terminal'
import { startGateway } from '../gateway/gateway.js'
import { ensureFree } from '../gateway/listen.js'
import { metricsRoutes, readRoutes } from '../gateway/routing-table.js'
import { redisUrlOf } from '../redis-users.js'
import { type BackingService, openDatabase, openRedis } from './backing-services.js'
import { claimDataFolder } from './data-folder.js'
import { applyMigrations, isSchemaCurrent, prepareLogins } from './schema.js'
import {
  type BackingUrls,
  type DatabaseServiceName,
  makeServiceFolders,
  type RunningService,
  serviceNames,
  startService,
  waitUntilReady,
} from './services.js'
import type { Settings } from './settings.js'

/** All processes of `npm start`. They stop in the reverse order of their start. */
export class Tree {
  readonly services: RunningService[] = []
  private readonly cleanups: (() => Promise<unknown> | unknown)[] = []
  private readonly kills: (() => void)[] = []
  private starting: Promise<void> | undefined
  private stopped: Promise<void> | undefined

  constructor(
    private readonly settings: Settings,
    private readonly progress: Progress,
  ) {}

  /** Starts everything. After a failure, `stop` stops the started parts. */
  start(): Promise<void> {
    this.starting ??= this.startAll()
    return this.starting
  }

  private async startAll(): Promise<void> {
    const { settings, progress } = this
    this.cleanups.push(await claimDataFolder(settings.dataDir))
    makeServiceFolders(settings.dataDir)
    await this.openPorts()
    const [database, redis] = await this.openBackingServices()
    // The migrations also create the partitions of the next days. Without this step, the worker creates them.
    if (!(await isSchemaCurrent(settings.root, database.url))) {
      await progress.step('database schema', () => applyMigrations(settings.root, database.url))
    }
    const databaseUrlOf = await prepareLogins(database)
    const redisUrlFor = (service: DatabaseServiceName) =>
      redis.embedded ? redisUrlOf(redis.url, service) : redis.url
    const backingUrls = { databaseUrlOf, redisUrlOf: redisUrlFor }
    await progress.step(`${serviceNames.length} services`, () => this.startServices(backingUrls))
  }

  /** Stops the services, then PostgreSQL and Redis, then the gateway. */
  stop(): Promise<void> {
    this.stopped ??= this.stopAll()
    return this.stopped
  }

  /** Ends every child at once. */
  kill(): void {
    for (const kill of this.kills) kill()
  }

  private get isStopping(): boolean {
    return this.stopped !== undefined
  }

  private async openPorts(): Promise<void> {
    const { host, port, grpcPort, root, trustsProxy } = this.settings
    // The gateway opens first, so that a busy port is reported before the servers start.
    const gateway = await startGateway({
      host,
      port,
      trustsProxy,
      // The console does not know tokens, so it cannot decide who may read its metrics.
      routes: [
        ...metricsRoutes(serviceNames.filter((name) => name !== 'console')),
        ...readRoutes(join(root, 'ops/gateway/routes.json')),
      ],
      portOf: (name) => this.services.find((service) => service.name === name)?.port,
    })
    this.cleanups.push(() => gateway.stop())
    await ensureFree({ host, port: grpcPort, variable: 'GRPC_PORT' })
  }

  private async openBackingServices(): Promise<[BackingService, BackingService]> {
    const { settings, progress } = this
    const keep = (opening: Promise<BackingService>) =>
      opening.then((backing) => {
        this.cleanups.push(() => backing.stop())
        this.kills.push(() => backing.kill())
        return backing
      })
    return await allOf(
      progress.step('PostgreSQL', () => keep(openDatabase(settings, progress))),
      progress.step('Redis', () => keep(openRedis(settings, progress))),
    )
  }

  private async startServices(backingUrls: BackingUrls): Promise<void> {
    this.cleanups.push(() => Promise.all(this.services.map(({ process }) => process.stop())))
    this.kills.push(() => {
      for (const { process } of this.services) process.kill()
    })
    for (const name of serviceNames) {
      if (this.isStopping) return
      this.services.push(await startService(name, this.settings, backingUrls, this.progress.notice))
    }
    await Promise.all(this.services.map((service) => waitUntilReady(service, () => this.isStopping)))
  }

  private async stopAll(): Promise<void> {
    // The start must finish first, so that every started process is known.
    await this.starting?.catch(() => {})
    // The gateway stops after the services, so that it forwards their last answers.
    const [claim, gateway, ...children] = this.cleanups
    for (const cleanup of children.reverse()) await cleanup()
    await gateway?.()
    await claim?.()
  }
}

/**
 * Waits for both promises even when one fails, unlike Promise.all, so that `stop` knows everything that has
 * started.
 */
async function allOf<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second])
  return await Promise.all([first, second])
}
