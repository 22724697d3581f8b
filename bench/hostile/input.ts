import type { User } from './scene.js'
import type { Service, Tree } from './tree.js'

export interface Scene {
  tree: Tree
  attacker: User
  neighbour: User
}

/** Something that one caller may send to hurt another one. */
export interface Input {
  name: string
  /** The service whose memory counts, and which the neighbour asks. */
  service: Service
  /** @returns what became of it, in a few words */
  run(scene: Scene): Promise<string>
}
