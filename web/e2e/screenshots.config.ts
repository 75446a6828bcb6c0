import { mergeConfig } from 'vitest/config'

import shared from './vitest.config.ts'

const config = mergeConfig(shared, { test: { testTimeout: 180_000 } })
// Not beside the tests: to merge lists is to join them.
config.test.include = ['e2e/screenshots.ts']
export default config
