import React, { useState } from 'react';
import { Row } from './row';

interface Props { items: string[] }

export const Basket: React.FC<Props> = ({ items }) => {
  const [open, setOpen] = useState(false);
  return <ul>{items.map((i) => <Row key={i} text={i} />)}</ul>;
};

export default function Page() {
  return <Basket items={[]}></Basket>;
}
