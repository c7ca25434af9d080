/** A value that JSON can carry. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

export type JsonObjectValue = Record<string, JsonValue>;

/** What is found in data at a path with dots; undefined for nothing. A key that itself holds dots wins over the path that it looks like. */
export function valueAtPath(data: JsonObjectValue, path: string): JsonValue | undefined {
  if (Object.hasOwn(data, path)) return data[path];
  let at: JsonValue | undefined = data;
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObjectValue)[key];
  }
  return at;
}
