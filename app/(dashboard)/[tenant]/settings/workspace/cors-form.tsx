'use client'
import { Button, Stack, TagsInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'

/** The origins whose pages may call the API with the workspace's tokens. */
export function CorsForm({ origins }: { origins: string[] }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [list, setList] = useState(origins)
  const save = useMutation(
    trpc.settings.setCorsOrigins.mutationOptions({
      onSuccess: async (saved) => {
        setList(saved.origins)
        notifyDone('The origins were saved.')
        await queries.invalidateQueries(trpc.settings.pathFilter())
      },
    }),
  )
  const same = list.length === origins.length && list.every((origin) => origins.includes(origin))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ origins: list })
      }}
    >
      <Stack gap="sm" align="flex-start">
        <TagsInput
          w="100%"
          label="Allowed origins"
          description="Pages from these origins may call the API with signed tokens. Press Enter after each."
          placeholder={list.length === 0 ? 'https://app.example.com' : ''}
          value={list}
          onChange={(next) => {
            setList(next)
            save.reset()
          }}
          maxTags={100}
          acceptValueOnBlur
        />
        {save.error && <ErrorState error={save.error} title="The origins were not saved" />}
        <Button type="submit" variant="default" loading={save.isPending} disabled={same}>
          Save origins
        </Button>
      </Stack>
    </form>
  )
}
