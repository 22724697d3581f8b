/** The path of the project that the address of a repository names: it may end in `.git`, which the path of a project never does. */
export const projectPathOf = ({ namespace, project }: Record<string, string>): string =>
  `${namespace}/${project?.replace(/\.git$/, '')}`
