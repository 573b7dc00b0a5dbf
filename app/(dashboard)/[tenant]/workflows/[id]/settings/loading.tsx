import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { LoadingHeader } from '../../loading-header'

export default function Loading() {
  return (
    <>
      <LoadingHeader here="settings" />
      <PageBody narrow>
        <Skeleton height={420} radius="md" />
      </PageBody>
    </>
  )
}
