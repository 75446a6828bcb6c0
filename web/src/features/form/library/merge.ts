/** What the form library merges `allOf` with, for whoever brings nothing of their own. We do, and it is never called. */
function never(): never {
  throw new Error('the form merges `allOf` itself')
}

export const createComparator = () => ({
  compareSchemaDefinitions: never,
  compareSchemaValues: never,
})
export const createMerger = () => ({ mergeArrayOfSchemaDefinitions: never })
export const createShallowAllOfMerge = () => never
export const createDeduplicator = () => never
export const createIntersector = () => never
