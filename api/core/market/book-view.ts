/** The best levels of a book, as they go to readers: `BOOK_DEPTH_MAX` of each side, best first. */
export interface BookView {
  seq: number;
  bids: readonly BookLevel[];
  asks: readonly BookLevel[];
}

export interface BookLevel {
  /** USDT for a dollar of credit, an exact decimal. */
  price: string;
  /** Dollars of credit, an exact decimal. */
  size: string;
  orders: number;
}
