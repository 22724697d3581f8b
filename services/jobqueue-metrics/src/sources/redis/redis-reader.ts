/** Every command that is ever sent to a source: none of them writes, none goes through keys. */
export type ReadName =
  | 'get'
  | 'hget'
  | 'hgetall'
  | 'hmget'
  | 'lindex'
  | 'llen'
  | 'lrange'
  | 'smembers'
  | 'zcard'
  | 'zcount'
  | 'zrange'
  | 'zrangebyscore'

/** A command with the one key it reads, first. */
export type ReadCommand = readonly [name: ReadName, key: string, ...rest: (string | number)[]]

/** A script that the server itself keeps from writing. */
export interface ReadScript {
  lua: string
  sha: string
  /** Keys that one run looks at: the server does nothing else meanwhile. */
  keysMax: number
}

/** Reads a Redis, whatever it consists of. */
export interface RedisReader {
  /**
   * Answers in the order of the commands, in one round trip however many they are.
   *
   * @throws Error of the first command that failed: figures with holes would be wrong figures
   */
  read(commands: readonly ReadCommand[]): Promise<unknown[]>
  /**
   * Runs a script that answers once for each of its keys, in one round trip; its answers in the order of the keys,
   * each understood as soon as it has come, while the server works on the next. Null where this server or this user
   * runs none.
   */
  readByScript<Answer>(
    script: ReadScript,
    keys: readonly string[],
    args: readonly (string | number)[],
    understand: (answer: unknown, index: number) => Answer,
  ): Promise<Answer[] | null>
  /** What CLIENT LIST says on every node, one line a connection. */
  clientList(): Promise<string[]>
  /** Names of hashes that match, sought with pauses; never while somebody waits for the answer. */
  scanHashes(pattern: string): Promise<string[]>
  close(): void
}
