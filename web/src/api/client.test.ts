import { onlineManager } from '@tanstack/react-query'

import { queryClient } from './client'

afterEach(() => onlineManager.setOnline(true))

test('a browser without internet still asks the server, which may be in the same house', async () => {
  onlineManager.setOnline(false)
  const read = queryClient.fetchQuery({ queryKey: ['here'], queryFn: async () => 'answered' })
  expect(await Promise.race([read, soon()])).toBe('answered')
  const sent = queryClient
    .getMutationCache()
    .build(queryClient, { mutationFn: async () => 'taken' })
    .execute(undefined)
  expect(await Promise.race([sent, soon()])).toBe('taken')
})

const soon = () => new Promise((done) => setTimeout(() => done('nothing was asked'), 500))
