import { createElement, useState } from 'react';
import { Maximize2 } from 'lucide-react';

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Impact = (window.repopilotImpact ||= function ({ props, callAction }) {
  const [wide, setWide] = useState(false);
  const { picture } = props;
  const texts = [...picture.heads.map(([x, head]) => [x, 24, head]), ...picture.left_out.map((each) => [each.x + 8, each.y + 14, each.label])];
  const open = ({ path, line }) => callAction({ name: 'open_file', payload: { path, line } });
  return (
    <section className="rp-impact">
      <div className="rp-row">
        <span className="rp-risk" data-risk={props.risk}>{props.label}</span>
        <span className="rp-muted rp-number">{props.counts}</span>
        <span className="rp-grow" />
        <button className="rp-button" onClick={() => setWide(!wide)}><Maximize2 size={13} /> {wide ? props.words.fit : props.words.full_size}</button>
      </div>
      <div className={wide ? 'rp-picture' : 'rp-picture rp-fit'} tabIndex={0}>
        {window.repopilotChart(createElement, picture, { open, label: props.alt, texts })}
      </div>
    </section>
  );
});

export default <Impact props={props} callAction={callAction} />;
