/** Names of the parameters in a path, those for several parts included: `/users/:id/files/*path` → `['id', 'path']`. */
export const namesInPath = (path: string) => [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => String(name))
