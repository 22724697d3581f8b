import { encodeCommand } from './resp.js'

/** Every command that is ever sent to a source: none of them writes, none goes through keys. */
export type ReadName =
  | 'exists'
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

/** A command. A snapshot consists of thousands, and most are the same each time: who keeps one spares writing it down. */
export class ReadCommand {
  readonly args: readonly (string | number)[]
  private text: string | null = null

  /** @param args the key that is read first; of EXISTS any number of keys */
  constructor(
    readonly name: ReadName,
    ...args: [key: string, ...rest: (string | number)[]]
  ) {
    this.args = args
  }

  /** As RESP writes it. */
  encoded(): string {
    this.text ??= encodeCommand([this.name, ...this.args])
    return this.text
  }
}
