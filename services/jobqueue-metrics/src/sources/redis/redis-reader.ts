import type { ReadCommand } from './read-command.js'

/** Reads a Redis, whatever it consists of. */
export interface RedisReader {
  /**
   * Answers in the order of the commands, in one round trip however many they are.
   *
   * @throws Error of the first command that failed: figures with holes would be wrong figures
   */
  read(commands: readonly ReadCommand[]): Promise<unknown[]>
  /** What CLIENT LIST says on every node, one line a connection. */
  clientList(): Promise<string[]>
  /** Names of hashes that match, sought with pauses; never while somebody waits for the answer. */
  scanHashes(pattern: string): Promise<string[]>
  close(): void
}
