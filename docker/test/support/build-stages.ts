import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Copy, DockerfileParser, type Instruction } from 'dockerfile-ast'
import { execa } from 'execa'

export const repository = resolve(import.meta.dirname, '../../..')

export const readDockerfile = () =>
  DockerfileParser.parse(readFileSync(join(repository, 'docker/Dockerfile'), 'utf8'))

/** Instructions of the Dockerfile's stages, by the name of the stage. */
export function stagesOf(dockerfile = readDockerfile()): Map<string, Instruction[]> {
  const stages = new Map<string, Instruction[]>()
  let current: Instruction[] = []
  for (const instruction of dockerfile.getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      current = []
      stages.set(instruction.getArguments().at(-1)?.getValue() ?? '', current)
    }
    current.push(instruction)
  }
  return stages
}

export interface Build {
  service: string
  /** Takes the place of the builder's file system. */
  folder: string
  env: Record<string, string>
}

/**
 * Does what the stages `pruned` and `built` of the Dockerfile say, with the shell and without Docker.
 *
 * @returns the folder that becomes /app of the image
 */
export async function buildService({ service, folder, env }: Build): Promise<string> {
  const stages = stagesOf()
  const app = join(folder, 'app')
  for (const stage of ['pruned', 'built']) {
    const workspace = join(folder, stage)
    mkdirSync(workspace, { recursive: true })
    for (const instruction of stages.get(stage) ?? []) {
      const words = instruction.getArguments().map((argument) => argument.getValue())
      if (instruction instanceof Copy) {
        await copy(words.slice(0, -1), instruction.getFromFlag()?.getValue(), folder, workspace)
      }
      if (instruction.getKeyword() === 'RUN') {
        const command = words.join(' ').replace('/app', app)
        await execa('sh', ['-euc', command], { cwd: workspace, env: { ...env, SERVICE: service } })
      }
    }
  }
  return app
}

/** COPY of the build context, of single files of it, or of what an earlier stage left. */
async function copy(
  paths: string[],
  from: string | null | undefined,
  folder: string,
  workspace: string,
): Promise<void> {
  if (paths[0] === '.') return copyContext(workspace)
  for (const path of paths) {
    const source = from ? join(folder, from, path.replace(/^\/workspace\//, '')) : join(repository, path)
    if (statSync(source).isDirectory()) cpSync(source, workspace, { recursive: true })
    else copyFileSync(source, join(workspace, path.split('/').at(-1) ?? ''))
  }
}

/** Files that git knows or would take; .dockerignore leaves the same ones. */
async function copyContext(workspace: string): Promise<void> {
  const { stdout } = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
  })
  for (const file of stdout.split('\0').filter((name) => name !== '' && existsSync(join(repository, name)))) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true })
    cpSync(join(repository, file), join(workspace, file))
  }
}
