import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { ApiError, get, getPage } from '../../api/client'
import type { User } from '../../generated/types.gen'

const namesMax = 20

/** The usernames that contain a text, or belong to a name that contains it. */
export const usernamesQuery = (text: string) =>
  queryOptions({
    queryKey: ['users', 'names', text],
    queryFn: async ({ signal }) => {
      const query = { search: text, active: true, per_page: namesMax, order_by: 'username', sort: 'asc' }
      return (await getPage<User>('/users', query, signal)).rows.map(({ username }) => username)
    },
    staleTime: 10_000,
  })

/** Finds a user by username, in any case. @throws ApiError when there is none */
export async function findUser(username: string): Promise<User> {
  const [user] = (await getPage<User>('/users', { username })).rows
  if (!user) throw new ApiError(404, `There is no user ${username}.`)
  return user
}

const userQuery = (id: number | undefined) =>
  queryOptions({
    queryKey: ['user-name', id],
    queryFn: ({ signal }) => get<User>(`/users/${id}`, {}, signal),
    enabled: id !== undefined,
    staleTime: 60_000,
  })

/** Returns the usernames of users; those that are not loaded yet are missing. */
export function useUsernames(ids: readonly number[]): Map<number, string> {
  const wanted = [...new Set(ids)]
  return useQueries({
    queries: wanted.map(userQuery),
    combine: (answers) =>
      new Map(answers.flatMap(({ data }) => (data ? [[data.id, data.username] as const] : []))),
  })
}

/** Returns the username of a user; undefined while it is loading. */
export const useUsername = (id: number | undefined) => useQuery(userQuery(id)).data?.username
