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
   * Runs a script once per call, in one round trip. Null where this server or this user runs none.
   *
   * @param calls keys[0] and the arguments of each run
   */
  readByScript(
    script: ReadScript,
    calls: readonly (readonly [key: string, ...args: (string | number)[]])[],
  ): Promise<unknown[] | null>
  /** What CLIENT LIST says on every node, one line a connection. */
  clientList(): Promise<string[]>
  /** Names of hashes that match, sought with pauses; never while somebody waits for the answer. */
  scanHashes(pattern: string): Promise<string[]>
  close(): void
}
