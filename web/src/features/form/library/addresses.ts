/**
 * What the form library looks up `$id` with. The schemas that we draw have none, and every reference in them is a path
 * inside of the schema (`schema/prepare.ts`).
 */
export default {
  equal: (one: string, other: string) => one === other,
  resolve: (_base: string, reference: string) => reference,
}
