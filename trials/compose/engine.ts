import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@switchyard/testing'
import { execa } from 'execa'
import { cache } from '../images/buildah.js'
import { findDockerCompose } from './docker-compose.js'

/** Folder of the engine's state. podman stores the path with its containers, and requires a short one. */
const folder = '/run/containers/switchyard'

export interface Engine {
  /** Environment with which `docker compose` uses this engine. */
  environment: Record<string, string>
  /** Runs a podman command and returns its output. */
  podman(...args: string[]): Promise<string>
  stop(): Promise<void>
}

/**
 * Starts podman with the images that buildah has built, and a server of Docker's API in front of it. Its
 * containers end with the process namespace of the trial. Control groups apply the limits of containers.
 */
export async function startEngine(): Promise<Engine> {
  if (!/ \/run\/containers tmpfs /.test(readFileSync('/proc/self/mounts', 'utf8')))
    throw new Error('these tests need their own namespaces: run pnpm test:compose')
  const socket = join(folder, 'podman.sock')
  const settings = {
    'containers.conf': `[containers]
log_driver = "k8s-file"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
compat_api_enforce_docker_hub = false
tmp_dir = "${folder}/tmp"
`,
    'storage.conf': `[storage]
driver = "overlay"
runroot = "${folder}/run"
graphroot = "${cache}/storage"
`,
    'registries.conf': 'unqualified-search-registries = ["localhost"]\nshort-name-mode = "disabled"\n',
    'docker/config.json': '{}',
    // `docker compose` is a separate program in Debian.
    'bin/docker': '#!/bin/sh\n[ "$1" = compose ] && shift && exec "$DOCKER_COMPOSE" "$@"\n',
  }
  for (const name of ['docker', 'bin', 'tmp']) mkdirSync(join(folder, name), { recursive: true })
  for (const [name, text] of Object.entries(settings))
    writeFileSync(join(folder, name), text, { mode: 0o755 })
  const env = {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
    DOCKER_CONFIG: join(folder, 'docker'),
    // Without systemd, podman would not run health checks; the loop below does.
    DISABLE_HC_SYSTEMD: 'true',
  }
  const podman = async (...args: string[]) => (await execa('podman', args, { env })).stdout
  // Removes the containers of a killed run.
  await podman('rm', '--all', '--force', '--time', '0')
  await podman('volume', 'prune', '--force')
  const serving = ['system', 'service', '--time=0', `unix://${socket}`]
  // podman writes a file into its working folder when a container has run out of memory.
  const server = execa('podman', serving, { env, cwd: folder, reject: false })
  const standalone = { DOCKER_COMPOSE: await findDockerCompose() }
  const environment = {
    ...env,
    ...standalone,
    DOCKER_HOST: `unix://${socket}`,
    PATH: `${folder}/bin:${process.env.PATH}`,
  }
  await waitFor(
    async () => {
      const { exitCode } = await execa('podman', ['--url', `unix://${socket}`, 'version'], {
        env,
        reject: false,
      })
      return exitCode === 0
    },
    { what: 'podman to serve', intervalMs: 100 },
  )

  const stopping = new AbortController()
  const asking = askForHealth(podman, stopping.signal)
  return {
    environment,
    podman,
    async stop() {
      stopping.abort()
      await asking
      await podman('rm', '--all', '--force', '--time', '0')
      server.kill()
      await server
    },
  }
}

/** Runs the health checks of all containers every two seconds, like the timers of systemd. */
async function askForHealth(podman: Engine['podman'], stopping: AbortSignal): Promise<void> {
  const states = ['starting', 'healthy', 'unhealthy'].flatMap((state) => ['--filter', `health=${state}`])
  while (!stopping.aborted) {
    const ids = await podman('ps', '--quiet', ...states).catch(() => '')
    for (const id of ids.split('\n').filter(Boolean)) {
      if (stopping.aborted) return
      // The container is unhealthy, or has just ended.
      await podman('healthcheck', 'run', id).catch(() => {})
    }
    await delay(2000, undefined, { signal: stopping }).catch(() => {})
  }
}
