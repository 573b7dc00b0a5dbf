import { notifications } from '@mantine/notifications'
import { Link } from '@/app/_ui/link'
import { notifyDone } from '@/app/_ui/notify'

/** Long enough to read it and to follow the link. */
const SHOWN_MS = 20_000

/** Confirms a publication. Runs that are open keep to earlier versions: the link leads to where they can be moved. */
export function notifyPublished(message: string, running: number, href: string): void {
  if (running === 0) {
    notifyDone(message)
    return
  }
  const id = notifications.show({
    color: 'green',
    autoClose: SHOWN_MS,
    message: (
      <>
        <span>{message}</span>{' '}
        <span>
          {running === 1
            ? '1 run is open on an earlier version.'
            : `${running.toLocaleString('en')} runs are open on earlier versions.`}
        </span>{' '}
        <Link href={href} onClick={() => notifications.hide(id)}>
          See which can move
        </Link>
      </>
    ),
  })
}
