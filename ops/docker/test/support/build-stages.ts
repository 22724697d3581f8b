import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DockerfileParser, type Instruction } from 'dockerfile-ast'

export const repository = resolve(import.meta.dirname, '../../../..')

export const readDockerfile = () =>
  DockerfileParser.parse(readFileSync(join(repository, 'ops/docker/Dockerfile'), 'utf8'))

/** Returns the instructions of the Dockerfile's stages, by the name of the stage. */
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
