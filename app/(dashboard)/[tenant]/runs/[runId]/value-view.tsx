'use client'
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { CopyButton } from '@/app/_ui/copy-button'
import { ErrorState } from '@/app/_ui/error-state'
import { JsonView } from '@/app/_ui/json-view'
import { notifyError } from '@/app/_ui/notify'
import { saveFile } from '@/app/_ui/save-file'
import { sizeText } from '@/app/_ui/size-text'
import type { ReadWholeValue } from '@/server/runs/whole-value'
import type { CutValue } from '@/server/views/value'
import styles from './run.module.css'

/** A value as a tree. A large value shows its start, and the rest on request. */
export function ValueView({ value, whole, label }: { value: CutValue; whole: ReadWholeValue; label: string }) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const [all, setAll] = useState(false)
  const cut = 'preview' in value
  const query = useQuery({ ...trpc.runs.wholeValue.queryOptions(whole), enabled: cut && all, staleTime: 60_000 })
  const shown = cut ? query.data?.value : value.value
  const read = async () => ('preview' in value ? (await client.runs.wholeValue.query(whole)).value : value.value)
  const download = () => {
    read()
      .then((json) => saveFile(`${label.toLowerCase().replaceAll(/\W+/g, '-')}.json`, JSON.stringify(json, null, 2)))
      .catch((err: unknown) => notifyError(err, 'The value was not downloaded'))
  }
  return (
    <div className={styles.value}>
      <div className={styles.valueBar}>
        <Text size="xs" c="dimmed">
          {sizeText(value.size)}
        </Text>
        {!cut && <CopyButton text={JSON.stringify(value.value, null, 2)} label={`Copy ${label.toLowerCase()}`} />}
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<Download size={14} aria-hidden />}
          onClick={download}
        >
          Download
        </Button>
      </div>
      {cut && shown === undefined ? (
        <>
          <Text size="sm" className={styles.note ?? ''}>
            Only the first 32 KB are shown here. The full value is {sizeText(value.size)}.
          </Text>
          {query.error ? (
            <ErrorState error={query.error} onRetry={() => query.refetch()} />
          ) : (
            <Button variant="default" size="compact-sm" loading={query.isFetching} onClick={() => setAll(true)}>
              Show {sizeText(value.size)}
            </Button>
          )}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section className={styles.preview} tabIndex={0} aria-label={`${label}, first 32 KB`}>
            <pre>{value.preview}</pre>
          </section>
        </>
      ) : (
        <JsonView value={shown} label={label} />
      )}
    </div>
  )
}
