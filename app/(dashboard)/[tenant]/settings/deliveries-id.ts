/** The list of a webhook's deliveries, which the webhook's row opens. Apart, because the list itself loads later. */
export const DELIVERIES = 'deliveries'
