'use client'
import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Monitor } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { Time } from '@/app/_ui/time'
import type { Account } from '@/server/account/get'
import styles from './account.module.css'

export function SessionList({ sessions }: { sessions: Account['sessions'] }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const end = useMutation(
    trpc.account.endOtherSessions.mutationOptions({
      onSuccess: ({ ended }) => {
        notifyDone(ended === 1 ? 'Signed out one other browser.' : `Signed out ${ended} other browsers.`)
        return queries.invalidateQueries(trpc.account.pathFilter())
      },
      onError: (error) => notifyError(error, 'The other browsers were not signed out'),
    }),
  )
  return (
    <>
      <ul className={styles.sessions}>
        {sessions.map((session) => (
          <li key={`${session.createdAt} ${session.lastSeenAt} ${session.agent}`}>
            <Monitor size={16} aria-hidden />
            <span>
              <strong>{browserName(session.agent)}</strong>
              {session.current && ', this browser'}
              <span className={styles.quiet}>
                signed in <Time at={session.createdAt} />, last seen <Time at={session.lastSeenAt} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {sessions.some(({ current }) => !current) && (
        <div>
          <Button variant="default" loading={end.isPending} onClick={() => end.mutate()}>
            Sign out everywhere else
          </Button>
        </div>
      )}
    </>
  )
}

/** "Firefox on Linux", derived from the User-Agent: enough to distinguish one's own sessions. */
function browserName(agent: string | null): string {
  const find = (names: readonly (readonly [RegExp, string])[]) => names.find(([sign]) => sign.test(agent ?? ''))?.[1]
  const browser = find([
    [/Edg\//, 'Edge'],
    [/Firefox\//, 'Firefox'],
    [/Chrom(e|ium)\//, 'Chrome'],
    [/Safari\//, 'Safari'],
  ])
  const system = find([
    [/Android/, 'Android'],
    [/iPhone|iPad/, 'iOS'],
    [/Windows/, 'Windows'],
    [/Mac OS X/, 'macOS'],
    [/Linux/, 'Linux'],
  ])
  return `${browser ?? 'A browser'}${system === undefined ? '' : ` on ${system}`}`
}
