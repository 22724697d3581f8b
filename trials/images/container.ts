import { readFileSync } from 'node:fs'
import { execa, execaSync } from 'execa'
import { buildah, buildahEnvironment, configOf } from './buildah.js'

export interface Container {
  /** Runs another command in it, with the variables of the first, as an engine runs health checks. */
  exec(...command: string[]): Promise<{ exitCode?: number; all: string }>
  /** Stops the container as an engine does. */
  terminate(): void
  /** Exit code and output of its program. */
  ended: Promise<{ exitCode?: number; all: string }>
  remove(): Promise<void>
}

export interface ContainerOptions {
  variables: Record<string, string>
  /** Folders of this machine, by their paths in the container. */
  volumes?: Record<string, string>
  /** Command in place of the image's. */
  command?: string[]
}

/** Runs an image with runc: with its own processes and files, and in the network of this machine. */
export async function startContainer(
  image: string,
  { variables, volumes = {}, command }: ContainerOptions,
): Promise<Container> {
  const { Entrypoint, Cmd } = await configOf(image)
  const name = await buildah('from', '--pull-never', image)
  const run = (program: string[]) =>
    execa(
      'buildah',
      [
        'run',
        '--isolation',
        'oci',
        '--runtime',
        'runc',
        '--network',
        'host',
        ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
        ...Object.entries(volumes).flatMap(([target, source]) => ['--volume', `${source}:${target}`]),
        name,
        '--',
        ...program,
      ],
      { env: buildahEnvironment, reject: false, all: true },
    )
  const program = run([...Entrypoint, ...(command ?? Cmd)])
  let runs = true
  const ended = program.finally(() => {
    runs = false
  })
  return {
    exec: (...program) => run(program),
    terminate: () => process.kill(firstProcess(program.pid), 'SIGTERM'),
    ended,
    async remove() {
      if (runs) process.kill(firstProcess(program.pid), 'SIGKILL')
      await ended
      await buildah('rm', name)
    },
  }
}

/** Returns the first process of a container, below those of buildah. */
function firstProcess(pid: number | undefined): number {
  for (let current = String(pid); ; ) {
    const { stdout } = execaSync('pgrep', ['--parent', current])
    current = stdout.split('\n')[0] ?? ''
    if (readFileSync(`/proc/${current}/comm`, 'utf8') === 'tini\n') return Number(current)
  }
}
