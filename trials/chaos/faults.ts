import { waitFor } from '@switchyard/testing'
import { queryAll } from '../support/query-all.js'
import type { Disk } from './installation/disk.js'
import type { Installation, Link } from './installation/installation.js'
import type { Service } from './installation/service.js'
import { reportDisturbed } from './load/disturbed.js'
import type { Load } from './load/load.js'

export interface Scene {
  installation: Installation
  load: Load
  /** Returns a number from 0 to 1, another one each time, derived from the seed. */
  chance: () => number
}

export interface Fault {
  name: string
  /** The affected part: two simultaneous faults affect different parts. */
  hits: string
  /** Whether every kind of write continues during the fault. */
  writesContinue?: boolean
  /** Whether it takes too long for the short run. */
  long?: boolean
  /** @returns what this process lacks to inject it */
  lacks?(installation: Installation): string | null
  /** @returns a function that ends the fault */
  begin(scene: Scene): Promise<End> | End
}

type End = () => Promise<unknown> | unknown

const nothing = () => {}

const signalAll = (services: Service[], signal: NodeJS.Signals) => {
  for (const service of services) service.signal(signal)
}

type Pick = (installation: Installation) => Service[]
const onMachine =
  (machine: number): Pick =>
  ({ services }) =>
    services.filter((service) => service.machine === machine)
const named =
  (name: string): Pick =>
  ({ servicesOf }) =>
    servicesOf(name)

const killed = (what: string, hits: string, pick: Pick): Fault => ({
  name: `kill -9 of ${what}`,
  hits,
  begin({ installation }) {
    signalAll(pick(installation), 'SIGKILL')
    return nothing
  },
})

const paused = (what: string, hits: string, pick: Pick): Fault => ({
  name: `pause of ${what}`,
  hits,
  begin({ installation }) {
    signalAll(pick(installation), 'SIGSTOP')
    return () => signalAll(pick(installation), 'SIGCONT')
  },
})

/** Returns a fault in which services finish their work, and then end. */
const stopped = (what: string, hits: string, pick: Pick): Fault => ({
  name: `SIGTERM to ${what}`,
  hits,
  async begin({ installation }) {
    const { notices } = installation
    const services = pick(installation).filter(({ process }) => process.pid() !== undefined)
    const from = notices.length
    signalAll(services, 'SIGTERM')
    await waitFor(
      () =>
        services.every(({ process }) =>
          notices.slice(from).some((line) => line.startsWith(`${process.name} ended with code`)),
        ),
      { what: 'services to end by themselves' },
    )
    return nothing
  },
})

const serviceNames = ['git-api', 'saga-reporter', 'worker', 'admin-broadcast', 'jobqueue-metrics', 'console']

const everything = (machine: number) => `every service of machine ${machine}`

const ofMachines: Fault[] = [
  killed(everything(1), 'services', onMachine(1)),
  killed(everything(2), 'services', onMachine(2)),
  paused(everything(2), 'services', onMachine(2)),
  stopped(everything(1), 'services', onMachine(1)),
]

const ofServices: Fault[] = serviceNames.flatMap((name) =>
  [killed, paused, stopped].map((make) => ({
    ...make(`every ${name}`, 'services', named(name)),
    long: true,
  })),
)

const hung: Fault = {
  name: 'every service of machine 1 hangs until it is ended',
  hits: 'services',
  long: true,
  begin({ installation }) {
    signalAll(onMachine(1)(installation), 'SIGSTOP')
    return nothing
  },
}

const ofDatabase: Fault[] = [
  {
    name: 'kill -9 of PostgreSQL',
    hits: 'database',
    begin({ installation }) {
      installation.server.killHard()
      return nothing
    },
  },
  {
    name: 'pause of PostgreSQL',
    hits: 'database',
    begin({ installation }) {
      installation.server.freeze()
      return () => installation.server.thaw()
    },
  },
  {
    name: 'slow database (40 ms each way)',
    hits: 'database',
    writesContinue: true,
    begin: ({ installation }) => {
      for (const { database } of installation.links) database.delay(40)
      return () => mendAll(installation.links.map(({ database }) => database))
    },
  },
]

const ofRedis: Fault[] = [
  {
    name: 'kill -9 of Redis',
    hits: 'redis',
    begin({ installation }) {
      signalRedis(installation, 'SIGKILL')
      return nothing
    },
  },
  {
    name: 'pause of Redis',
    hits: 'redis',
    writesContinue: true,
    begin({ installation }) {
      signalRedis(installation, 'SIGSTOP')
      return () => signalRedis(installation, 'SIGCONT')
    },
  },
]

function signalRedis({ redis }: Installation, signal: NodeJS.Signals): void {
  const pid = redis.process.pid()
  if (pid !== undefined) process.kill(pid, signal)
}

const mendAll = (links: Link[]) => {
  for (const link of links) link.mend()
}

/** Faults in which the network between services and a server drops connections, or silently loses packets. */
const ofLinks: Fault[] = (['database', 'redis'] as const).flatMap((to) =>
  (['cut', 'swallow'] as const).map((how) => ({
    name: `network to ${to === 'database' ? 'PostgreSQL' : 'Redis'} ${how === 'cut' ? 'cut' : 'swallows packets'}`,
    hits: to,
    // Only a timeout detects lost packets.
    long: how === 'swallow',
    writesContinue: to === 'redis',
    begin({ installation }: Scene) {
      const links = installation.links.map((link) => link[to])
      for (const link of links) link[how]()
      return () => mendAll(links)
    },
  })),
)

const cablePulled: Fault = {
  name: 'cable of machine 2 pulled',
  hits: 'services',
  lacks: ({ cable }) => (cable ? null : 'may not make network namespaces (needs root)'),
  begin({ installation }) {
    installation.cable?.pull()
    return () => installation.cable?.plug()
  },
}

const diskFull = (which: keyof Installation['disks'], writesContinue: boolean): Fault => ({
  name: `disk of ${which === 'database' ? 'PostgreSQL' : which === 'redis' ? 'Redis' : 'repositories'} full`,
  hits: which,
  writesContinue,
  lacks: ({ disks }) => (disks[which] ? null : 'may not mount a disk (needs root)'),
  begin({ installation }) {
    const disk = installation.disks[which] as Disk
    disk.fill()
    return () => disk.clear()
  },
})

const hour = 3600

const clockJumps: Fault = {
  name: 'clock of a reporter jumps 36 hours ahead and back',
  hits: 'clock',
  async begin({ installation, load }) {
    const [reporter] = installation.servicesOf('saga-reporter')
    for (const hours of [36, -36]) {
      const before = load.traffic.stored
      if (reporter) installation.setClock(reporter, hours * hour)
      await waitFor(
        async () => {
          const sign = hours > 0 ? '> now() +' : '< now() -'
          const sql = `SELECT count(*)::integer AS events FROM saga_events WHERE received_at ${sign} interval '1 day'`
          const [row] = await queryAll(installation.databaseUrl, sql)
          return Number(row?.events) > 20 && load.traffic.stored > before
        },
        { what: 'events with a wrong time', intervalMs: 100 },
      )
    }
    return () => reporter && installation.setClock(reporter, 0)
  },
}

const clockSkew: Fault = {
  name: 'clocks of machine 1 run 20 seconds ahead, then behind',
  hits: 'clock',
  writesContinue: true,
  async begin({ installation, load }) {
    const services = onMachine(1)(installation)
    for (const service of services) installation.setClock(service, 20)
    const before = load.counts()
    await waitFor(() => load.idleSince(before).length === 0, { what: 'every kind of write to continue' })
    for (const service of services) installation.setClock(service, -20)
    return () => {
      for (const service of services) installation.setClock(service, 0)
    }
  },
}

const disturbed: Fault = {
  name: 'events of 60 sagas repeated and reordered',
  hits: 'delivery',
  async begin({ installation, load, chance }) {
    const addresses = installation.servicesOf('saga-reporter').map(({ grpcAddress }) => grpcAddress)
    const prefix = `disturbed-${load.reported.length}`
    const given = { prefix, sagas: 60, callers: 4, duplicates: 0.1, reordered: 0.1, chance }
    const sent = await reportDisturbed(addresses, given)
    if (sent.duplicates < 10 || sent.reordered < 10)
      throw new Error('too few events were repeated or reordered')
    load.reported.push(sent)
    return nothing
  },
}

const orchestratorsKilled: Fault = {
  name: 'kill -9 of the orchestrators between a lease and its answer',
  hits: 'orchestrators',
  async begin({ load }) {
    await waitFor(() => load.orchestrators.isAtWork(), { what: 'a command at work', intervalMs: 5 })
    load.orchestrators.killHard()
    return nothing
  },
}

/** All faults; those with `long` occur only in long runs. */
export const faults: Fault[] = [
  ...ofMachines,
  ...ofServices,
  hung,
  ...ofDatabase,
  ...ofRedis,
  ...ofLinks,
  cablePulled,
  diskFull('database', false),
  diskFull('repositories', false),
  diskFull('redis', true),
  clockJumps,
  clockSkew,
  disturbed,
  orchestratorsKilled,
]
