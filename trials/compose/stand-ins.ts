/** Images that stand in for those of others, by their stage in the Dockerfile beside this file. */
export const standIns = new Map(
  ['nginx', 'postgres', 'redis'].map((stage) => [stage, `localhost/stand-in/${stage}`]),
)
