import type { User } from '../../generated/client.js'

/** The columns of an author that answers show. */
export type StatusAuthor = Pick<User, 'id' | 'username' | 'name' | 'state'>

/** What a query with {@link authorColumns} reads besides the columns of its own table. */
export interface AuthorRow {
  authorId: number | null
  authorUsername: string | null
  authorName: string | null
  authorState: string | null
}

/** Columns of `LEFT JOIN users u ON u.id = <table>.author_id`. */
export const authorColumns = `u.username AS "authorUsername", u.name AS "authorName", u.state AS "authorState"`

/** Puts the author in the place of the columns; null when the account is gone. */
export function withAuthor<Row extends AuthorRow>({
  authorUsername,
  authorName,
  authorState,
  ...row
}: Row): Omit<Row, Exclude<keyof AuthorRow, 'authorId'>> & { author: StatusAuthor | null } {
  const author =
    row.authorId === null || authorUsername === null
      ? null
      : { id: row.authorId, username: authorUsername, name: authorName ?? '', state: authorState ?? '' }
  return { ...row, author }
}
